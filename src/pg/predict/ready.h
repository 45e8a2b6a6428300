/*
 * ready.h
 *		Models that stay ready in the session for predict_row().
 *
 * A few of them, within hopper.keep_memory; the one that was not used for longest makes room. A
 * model that is not used for hopper.keep_time frees its memory by itself: its thread does it,
 * because a session that waits for its client runs nothing of ours.
 */
#ifndef HOPPER_PREDICT_READY_H
#define HOPPER_PREDICT_READY_H

#include "pg/predict/predict.h"

#define READY_VERSION_SIZE 33	/* a hash in hexadecimal digits */

typedef struct hopper_ready_model
{
	/* what it was made of */
	Oid			relation;
	bool		has_key;
	int32		mst_key;
	int			n_inputs;
	bool	   *is_bytea;		/* by input, as it was asked for */
	bool		as_trained;		/* as in training */
	char		version[READY_VERSION_SIZE];	/* of its rows; "" where they have none */

	MemoryContext context;		/* NULL: this place is free */
	hopper_predict_model model;
	hopper_data_desc features;	/* as they are computed with */
	hopper_data_schema *schema;		/* the model's, or NULL */
	const hopper_predictor_api *api;
	hopper_predictor *predictor;
	hopper_guard *guard;		/* the session's */
	int			event_fd;
	int			n_outputs;
	hopper_predict_output *output;	/* every class, or the values */
	int64		bytes;
	int			keep_time;		/* as hopper.keep_time was then: its thread knows no other */
	bool		busy;			/* an error came between submit and take */
	uint64		last_use;
	uint64		serial;			/* another one for each model that takes this place */
} hopper_ready_model;

/*
 * The model with this key, or the best one. It stays until another one takes its place. After
 * hopper_connect_stable().
 *
 * Inputs are computed with as doubles, but for bytea, which holds the type of training. `is_bytea`:
 * by input, of which there are n_inputs; NULL: as in training. What was got before may be gone
 * then, and the table may hold another model: ERROR 55000 where that has another number of inputs.
 */
extern hopper_ready_model *hopper_ready_get(const hopper_name *table, bool has_key, int32 mst_key,
											int n_inputs, const bool *is_bytea);
/* Whether it is still the model that had this serial, and can compute. */
extern bool hopper_ready_is(const hopper_ready_model *entry, uint64 serial);
/* The outputs for one row's features, entry->n_outputs numbers until the next call. */
extern const float *hopper_ready_compute(hopper_ready_model *entry, const char *features,
										 size_t size);
/* After the call: what is too large to be kept goes. */
extern void hopper_ready_leave(hopper_ready_model *entry);

#endif							/* HOPPER_PREDICT_READY_H */
