#include <allranks_torch.h>
