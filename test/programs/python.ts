/** The Python that Debian's packages are for. */
export const PYTHON = "/usr/bin/python3";
