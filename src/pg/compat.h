/*
 * compat.h
 *		Every difference between server versions, with the newest server's signature.
 */
#ifndef HOPPER_COMPAT_H
#define HOPPER_COMPAT_H

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#endif							/* HOPPER_COMPAT_H */
