/*
 * uncaught.h
 *		Exceptions that nobody would catch.
 */
#ifndef UNCAUGHT_H
#define UNCAUGHT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Called by malloc(). Where operator new called it, and a std::bad_alloc from there would find no
 * handler, or a function that lets none through, the frames down to that function are appended to
 * `text`: a library and an offset a line, then an empty line. Returns whether that is so.
 */
extern int look_for_handler(char* text, size_t size);

#endif /* UNCAUGHT_H */
