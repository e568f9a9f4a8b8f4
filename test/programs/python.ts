/** The one that Debian's packages are for. */
export const PYTHON = "/usr/bin/python3";
