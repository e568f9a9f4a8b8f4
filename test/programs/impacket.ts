import { skipWithoutDebianPackage } from "./debian-program.ts";
import { PYTHON } from "./python.ts";

/** Why tests with impacket cannot run here; false if they can. */
export const skipWithoutImpacket =
  skipWithoutDebianPackage("impacket", "python3-impacket", `${PYTHON} -c 'import impacket'`) ??
  false;
