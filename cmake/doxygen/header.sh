#!/bin/sh
# header.sh FILE.h: a C header as doxygen reads it: comments before declarations and behind members are documentation.
exec sed -E -e "1s:^/\* :/** @file :" -e 's|^(  )?/\* ([^-])|\1/** \2|; s|([;,{"]\|[A-Za-z0-9])( *)/\* |\1\2/**< |' "$1"
