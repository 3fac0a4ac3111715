#include "driver/cli/commands.h"

int main(int argc, char** argv) { return allranks::cli::Main(argc, argv); }
