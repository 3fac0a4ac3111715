#include <allranks_c10d.h>
