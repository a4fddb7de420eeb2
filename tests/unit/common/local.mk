# Tests of common/.
