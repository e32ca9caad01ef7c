# cmake -DHEADERS=... -DSERIES=0.2 -DVERSION=0.2.0 -DOUT=FILE -P version_script.cmake
# The versions of our symbols, for the linker: what the public headers name has that of the series (CLOTHO_0.2), within which a program
# goes on working; what the libraries use of each other has the whole version, so that no two of different releases are mixed.
cmake_minimum_required(VERSION 3.25)
foreach(header ${HEADERS})
    file(READ ${header} text)
    string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
    string(REGEX MATCHALL "clo_[a-z0-9_]+" found "${text}")
    list(APPEND names ${found})
endforeach()
list(REMOVE_DUPLICATES names)
list(SORT names)
list(JOIN names ";\n        " public)
file(CONFIGURE OUTPUT ${OUT} @ONLY NEWLINE_STYLE UNIX CONTENT
"CLOTHO_@SERIES@ {
    global:
        @public@;
    local:
        *;
};
CLOTHO_PRIVATE_@VERSION@ {
    global:
        clo_*;
};
")
