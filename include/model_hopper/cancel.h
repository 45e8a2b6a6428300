/*
 * cancel.h
 *		What the core's functions return where they ended because they were cancelled
 *		(hopper_core_api.ask_for_cancel()), beside the codes of hopper_code: SQLSTATE 57014.
 */
#ifndef MODEL_HOPPER_CANCEL_H
#define MODEL_HOPPER_CANCEL_H

#define HOPPER_CANCELLED 11

#endif							/* MODEL_HOPPER_CANCEL_H */
