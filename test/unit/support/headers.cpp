// No code: targets that do nothing but precompile headers need a source.
