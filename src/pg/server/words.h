/*
 * words.h
 *		Numbers as people read them, for messages.
 */
#ifndef HOPPER_WORDS_H
#define HOPPER_WORDS_H

#include "pg/server/pg_include.h"

/* "1,438" */
extern char *hopper_count_words(int64 count);
/* "1 model", "16 models", "1,200 models" */
extern char *hopper_plural(int64 count, const char *singular, const char *plural);
/* "0.4 s", "41 s", "6 min 12 s", "2 h 5 min" */
extern char *hopper_duration_words(double seconds);
/* To a microsecond, for tables. */
extern double hopper_round_seconds(double seconds);
/* "28x28x1"; "a number" for rank 0 */
extern char *hopper_shape_words(int rank, const int64_t *shape);
/* "24 MB" */
extern char *hopper_bytes_words(int64 bytes);

#endif							/* HOPPER_WORDS_H */
