// CUDA 12 dropped this header; the one that Clang 19 reads the toolkit with still names it.
