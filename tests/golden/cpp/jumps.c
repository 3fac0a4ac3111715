/* Error exits out of loops and a switch, two labels in a row, a retry, and an exit before the label that jumps back to it. */
int load(int part, double* values);

int solve(int parts, int kind, double* values) {
  int error = 0;
  switch (kind) {
    case 0:
      if (load(0, values)) goto out;
      break;
    case 1:
      goto fail;
    default:
      kind = 0;
  }
again:
  if (load(kind, values)) goto again;
  for (int i = 0; i < parts; ++i) {
    for (int j = 0; j < parts; ++j) {
      if (load(j, values)) goto out;
      if (load(i, values)) goto next;
    }
    values[i] = 1;
  next:
    values[i] += 1;
  }
out:
  return error;
fail:
  error = 1;
  goto out;
}
