import { withoutDebianPackage } from "./debian-program.ts";

/** The one that Debian's packages are for. */
export const PYTHON = "/usr/bin/python3";

/** Why tests with impacket cannot run here; false if they can. */
export const noImpacket =
  withoutDebianPackage("impacket", "python3-impacket", `${PYTHON} -c 'import impacket'`) ?? false;
