import { handleAbortCopyBlob } from "./abort-copy-blob.ts";
import { handleAppendBlock } from "./append-block.ts";
import { handleAppendBlockFromUrl } from "./append-block-from-url.ts";
import { handleBatch } from "./batch.ts";
import type { BlobHandler } from "./call.ts";
import { handleCopyBlob } from "./copy-blob.ts";
import { handleCopyBlobFromUrl } from "./copy-blob-from-url.ts";
import { handleCopyBlobIncrementally } from "./copy-blob-incrementally.ts";
import { handleCreateContainer } from "./create-container.ts";
import { handleDeleteBlob } from "./delete-blob.ts";
import { handleDeleteContainer } from "./delete-container.ts";
import { handleFindBlobsByTags } from "./find-blobs-by-tags.ts";
import { handleGetAccountInformation } from "./get-account-information.ts";
import { handleGetBlob } from "./get-blob.ts";
import { handleGetBlobMetadata } from "./get-blob-metadata.ts";
import { handleGetBlobProperties } from "./get-blob-properties.ts";
import { handleGetBlobTags } from "./get-blob-tags.ts";
import { handleGetBlock } from "./get-block.ts";
import { handleGetBlockList } from "./get-block-list.ts";
import { handleGetContainerAcl } from "./get-container-acl.ts";
import { handleGetContainerMetadata } from "./get-container-metadata.ts";
import { handleGetContainerProperties } from "./get-container-properties.ts";
import { handleGetPageRanges } from "./get-page-ranges.ts";
import { handleGetServiceProperties } from "./get-service-properties.ts";
import { handleGetServiceStats } from "./get-service-stats.ts";
import { handleGetUserDelegationKey } from "./get-user-delegation-key.ts";
import { handleLeaseBlob } from "./lease-blob.ts";
import { handleLeaseContainer } from "./lease-container.ts";
import { handleListBlobs } from "./list-blobs.ts";
import { handleListContainers } from "./list-containers.ts";
import { handlePipeline } from "./pipeline.ts";
import { handlePlaceRevision } from "./place-revision.ts";
import { handlePutBlob } from "./put-blob.ts";
import { handlePutBlobFromUrl } from "./put-blob-from-url.ts";
import { handlePutBlock } from "./put-block.ts";
import { handlePutBlockFromUrl } from "./put-block-from-url.ts";
import { handlePutBlockList } from "./put-block-list.ts";
import { handlePutPage } from "./put-page.ts";
import { handlePutPageFromUrl } from "./put-page-from-url.ts";
import type { BlobOperationName } from "./route.ts";
import { handleSealBlob } from "./seal-blob.ts";
import { handleSetBlobExpiry } from "./set-blob-expiry.ts";
import { handleSetBlobMetadata } from "./set-blob-metadata.ts";
import { handleSetBlobProperties } from "./set-blob-properties.ts";
import { handleSetBlobTags } from "./set-blob-tags.ts";
import { handleSetBlobTier } from "./set-blob-tier.ts";
import { handleSetContainerAcl } from "./set-container-acl.ts";
import { handleSetContainerMetadata } from "./set-container-metadata.ts";
import { handleSetServiceProperties } from "./set-service-properties.ts";
import { handleSnapshotBlob } from "./snapshot-blob.ts";
import { handleUndeleteBlob } from "./undelete-blob.ts";
import { handleUndeleteContainer } from "./undelete-container.ts";

/**
 * The handler of each supported operation. Others are refused by name.
 * docs/reference/blob-operations.md lists both kinds, and a test compares them.
 */
export const BLOB_HANDLERS: Readonly<Partial<Record<BlobOperationName, BlobHandler>>> = {
  getServiceProperties: handleGetServiceProperties,
  setServiceProperties: handleSetServiceProperties,
  getServiceStats: handleGetServiceStats,
  getAccountInformation: handleGetAccountInformation,
  getUserDelegationKey: handleGetUserDelegationKey,
  listContainers: handleListContainers,
  batch: handleBatch,
  findBlobsByTags: handleFindBlobsByTags,

  createContainer: handleCreateContainer,
  getContainerProperties: handleGetContainerProperties,
  getContainerMetadata: handleGetContainerMetadata,
  setContainerMetadata: handleSetContainerMetadata,
  getContainerAcl: handleGetContainerAcl,
  setContainerAcl: handleSetContainerAcl,
  deleteContainer: handleDeleteContainer,
  leaseContainer: handleLeaseContainer,
  undeleteContainer: handleUndeleteContainer,
  listBlobs: handleListBlobs,
  pipeline: handlePipeline,

  putBlob: handlePutBlob,
  getBlob: handleGetBlob,
  getBlobProperties: handleGetBlobProperties,
  getBlobMetadata: handleGetBlobMetadata,
  setBlobProperties: handleSetBlobProperties,
  setBlobExpiry: handleSetBlobExpiry,
  setBlobMetadata: handleSetBlobMetadata,
  deleteBlob: handleDeleteBlob,
  leaseBlob: handleLeaseBlob,
  snapshotBlob: handleSnapshotBlob,
  undeleteBlob: handleUndeleteBlob,
  putBlock: handlePutBlock,
  putBlockList: handlePutBlockList,
  getBlockList: handleGetBlockList,
  putPage: handlePutPage,
  getPageRanges: handleGetPageRanges,
  appendBlock: handleAppendBlock,
  sealBlob: handleSealBlob,
  getBlobTags: handleGetBlobTags,
  setBlobTags: handleSetBlobTags,
  setBlobTier: handleSetBlobTier,
  copyBlob: handleCopyBlob,
  copyBlobIncrementally: handleCopyBlobIncrementally,
  abortCopyBlob: handleAbortCopyBlob,
  copyBlobFromUrl: handleCopyBlobFromUrl,
  putBlobFromUrl: handlePutBlobFromUrl,
  putBlockFromUrl: handlePutBlockFromUrl,
  putPageFromUrl: handlePutPageFromUrl,
  appendBlockFromUrl: handleAppendBlockFromUrl,
  placeRevision: handlePlaceRevision,
  getBlock: handleGetBlock,
};
