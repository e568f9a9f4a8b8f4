import { skipWithoutDebianPackage } from "./debian-program.ts";
import { PYTHON } from "./python.ts";

/** Why tests with the Python SDKs of 2015 to 2018 cannot run here; false if they can. */
export const skipWithoutLegacyPython =
  skipWithoutDebianPackage(
    "azure.multiapi.storage",
    "python3-azure-multiapi-storage",
    `${PYTHON} -c 'import azure.multiapi.storage'`,
  ) ?? false;

/**
 * Why tests with the Table SDK of that time, a separate package, cannot run here; false if they
 * can.
 */
export const skipWithoutLegacyTables =
  skipWithoutDebianPackage(
    "azure.cosmosdb.table",
    "python3-azure-cosmosdb-table",
    `${PYTHON} -c 'import azure.cosmosdb.table'`,
  ) ?? false;
