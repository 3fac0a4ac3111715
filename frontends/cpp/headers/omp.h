#ifndef ALLRANKS_OMP_H
#define ALLRANKS_OMP_H

#ifdef __cplusplus
extern "C" {
#endif
typedef struct { void *lock; } omp_lock_t;
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_num_procs(void);
void omp_set_num_threads(int count);
double omp_get_wtime(void);
int omp_in_parallel(void);
void omp_init_lock(omp_lock_t *lock);
void omp_destroy_lock(omp_lock_t *lock);
void omp_set_lock(omp_lock_t *lock);
void omp_unset_lock(omp_lock_t *lock);
#ifdef __cplusplus
}
#endif
#endif
