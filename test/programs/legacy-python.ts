import { withoutDebianPackage } from "./debian-program.ts";
import { PYTHON } from "./python.ts";

/** Why tests with the Python SDKs of 2015 to 2018 cannot run here; false if they can. */
export const noLegacyPython =
  withoutDebianPackage(
    "azure.multiapi.storage",
    "python3-azure-multiapi-storage",
    `${PYTHON} -c 'import azure.multiapi.storage'`,
  ) ?? false;

/** The same of the Table SDK, which was a package of its own then. */
export const noLegacyTables =
  withoutDebianPackage(
    "azure.cosmosdb.table",
    "python3-azure-cosmosdb-table",
    `${PYTHON} -c 'import azure.cosmosdb.table'`,
  ) ?? false;
