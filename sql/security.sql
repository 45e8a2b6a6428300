-- Functions run with their caller's rights on the caller's tables; every role may call them.
GRANT USAGE ON SCHEMA hopper TO PUBLIC;
