// Testcontainers' Azurite module with the image of Lazuli (docker build -t lazuli .). It needs Docker:
//   npm install @testcontainers/azurite @azure/storage-blob
import { BlobServiceClient } from "@azure/storage-blob";
import { AzuriteContainer } from "@testcontainers/azurite";

// The module listens on all addresses of the container, with the well-known key.
const container = await new AzuriteContainer("lazuli")
  .withEnvironment({ LAZULI_TRUST_NETWORK: "true" })
  .start();
try {
  const service = BlobServiceClient.fromConnectionString(container.getConnectionString());
  await service.createContainer("notes");
  for await (const { name } of service.listContainers()) console.log(name);
} finally {
  await container.stop();
}
