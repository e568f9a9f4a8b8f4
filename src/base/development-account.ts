/** The account of `UseDevelopmentStorage=true`, which every emulator of the service has. */
export const DEVELOPMENT_ACCOUNT_NAME = "devstoreaccount1";

/** Its public key. */
export const WELL_KNOWN_KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
