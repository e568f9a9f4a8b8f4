import type { FaultCode } from "../../base/fault.ts";

export interface RestFault {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/**
 * Status, code and message of every fault over REST. A test compares docs/reference/errors.md with
 * this table.
 */
export const REST_FAULTS: Record<FaultCode, RestFault> = {
  AccessTierNotSupportedForBlobType: {
    status: 400,
    code: "AccessTierNotSupportedForBlobType",
    message: "The access tier is not supported for this blob type.",
  },
  AllBatchSubRequestsShouldBeSameApi: {
    status: 400,
    code: "AllBatchSubRequestsShouldBeSameApi",
    message: "All batch subrequests should be the same api.",
  },
  AppendPositionConditionNotMet: {
    status: 412,
    code: "AppendPositionConditionNotMet",
    message: "The append position condition specified was not met.",
  },
  AtomFormatNotSupported: {
    status: 415,
    code: "AtomFormatNotSupported",
    message: "Atom format is not supported.",
  },
  AuthenticationFailed: {
    status: 403,
    code: "AuthenticationFailed",
    message:
      "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.",
  },
  AuthorizationFailure: {
    status: 403,
    code: "AuthorizationFailure",
    message: "This request is not authorized to perform this operation.",
  },
  AuthorizationPermissionMismatch: {
    status: 403,
    code: "AuthorizationPermissionMismatch",
    message: "This request is not authorized to perform this operation using this permission.",
  },
  AuthorizationProtocolMismatch: {
    status: 403,
    code: "AuthorizationProtocolMismatch",
    message: "This request is not authorized to perform this operation using this protocol.",
  },
  AuthorizationResourceTypeMismatch: {
    status: 403,
    code: "AuthorizationResourceTypeMismatch",
    message: "This request is not authorized to perform this operation using this resource type.",
  },
  AuthorizationServiceMismatch: {
    status: 403,
    code: "AuthorizationServiceMismatch",
    message: "This request is not authorized to perform this operation using this service.",
  },
  AuthorizationSourceIPMismatch: {
    status: 403,
    code: "AuthorizationSourceIPMismatch",
    message: "This request is not authorized to perform this operation using this source IP.",
  },
  BlobAlreadyExists: {
    status: 409,
    code: "BlobAlreadyExists",
    message: "The specified blob already exists.",
  },
  BlobArchived: {
    status: 409,
    code: "BlobArchived",
    message: "This operation is not permitted on an archived blob.",
  },
  BlobBeingRehydrated: {
    status: 409,
    code: "BlobBeingRehydrated",
    message: "This operation is not permitted because the blob is being rehydrated.",
  },
  BlobCustomerSpecifiedEncryptionMismatch: {
    status: 409,
    code: "BlobCustomerSpecifiedEncryptionMismatch",
    message:
      "The given customer specified encryption does not match the encryption used to encrypt the blob.",
  },
  BlobDoesNotUseCustomerSpecifiedEncryption: {
    status: 409,
    code: "BlobDoesNotUseCustomerSpecifiedEncryption",
    message:
      "The blob is not encrypted with customer specified encryption, but one was provided in the request.",
  },
  BlobIsSealed: {
    status: 409,
    code: "BlobIsSealed",
    message:
      "The specified blob is sealed, and its contents can't be modified unless the blob is re-created after a delete.",
  },
  BlobNotFound: {
    status: 404,
    code: "BlobNotFound",
    message: "The specified blob does not exist.",
  },
  BlobOperationNotSupported: {
    status: 409,
    code: "BlobOperationNotSupported",
    message: "Blob operation is not supported.",
  },
  BlobOverwritten: {
    status: 409,
    code: "BlobOverwritten",
    message: "The blob has been recreated since the previous snapshot was taken.",
  },
  BlobSnapshotNotSoftDeleted: {
    status: 409,
    code: "BlobSnapshotNotSoftDeleted",
    message: "Only what is deleted already can be deleted permanently: delete it first.",
  },
  BlobUsesCustomerSpecifiedEncryption: {
    status: 409,
    code: "BlobUsesCustomerSpecifiedEncryption",
    message:
      "The blob is encrypted with customer specified encryption, but it was not provided in the request.",
  },
  BlockCountExceedsLimit: {
    status: 409,
    code: "BlockCountExceedsLimit",
    message: "The committed block count cannot exceed the maximum limit of 50,000 blocks.",
  },
  BlockListTooLong: {
    status: 400,
    code: "BlockListTooLong",
    message: "The blocklist may not contain more than 50,000 blocks.",
  },
  BothCrc64AndMd5HeaderPresent: {
    status: 400,
    code: "BothCrc64AndMd5HeaderPresent",
    message: "Both x-ms-content-crc64 header and Content-MD5 header are present.",
  },
  CannotDeleteFileOrDirectory: {
    status: 409,
    code: "CannotDeleteFileOrDirectory",
    message: "The file or directory could not be deleted because it is in use by an SMB client.",
  },
  CannotVerifyCopySource: {
    status: 500,
    code: "CannotVerifyCopySource",
    message:
      "Could not verify the copy source within the specified time. Examine the HTTP status code and message for more information about the failure.",
  },
  ClientCacheFlushDelay: {
    status: 408,
    code: "ClientCacheFlushDelay",
    message:
      "The specified resource state could not be flushed from an SMB client in the specified time.",
  },
  CommandsInBatchActOnDifferentPartitions: {
    status: 400,
    code: "CommandsInBatchActOnDifferentPartitions",
    message: "All commands in a batch must operate on same entity group.",
  },
  ConditionNotMet: {
    status: 412,
    code: "ConditionNotMet",
    message: "The condition specified using HTTP conditional header(s) is not met.",
  },
  ContainerAlreadyExists: {
    status: 409,
    code: "ContainerAlreadyExists",
    message: "The specified container already exists.",
  },
  ContainerNotFound: {
    status: 404,
    code: "ContainerNotFound",
    message: "The specified container does not exist.",
  },
  ContentLengthMustBeZero: {
    status: 400,
    code: "ContentLengthMustBeZero",
    message: "The Content-Length request header must be zero.",
  },
  CopyAcrossAccountsNotSupported: {
    status: 400,
    code: "CopyAcrossAccountsNotSupported",
    message: "The copy source account and destination account must be the same.",
  },
  CopyIdMismatch: {
    status: 409,
    code: "CopyIdMismatch",
    message: "The specified copy ID did not match the copy ID for the pending copy operation.",
  },
  CopySourceConditionNotMet: {
    status: 412,
    code: "CannotVerifyCopySource",
    message: "The condition specified using HTTP conditional header(s) is not met.",
  },
  CopySourceForbidden: {
    status: 403,
    code: "CannotVerifyCopySource",
    message: "This request is not authorized to read the copy source.",
  },
  CopySourceInConflict: {
    status: 409,
    code: "CannotVerifyCopySource",
    message: "The copy source cannot be used for this operation.",
  },
  CopySourceInvalid: {
    status: 400,
    code: "CannotVerifyCopySource",
    message: "The copy source could not be asked for as the request says.",
  },
  CopySourceNotFound: {
    status: 404,
    code: "CannotVerifyCopySource",
    message: "The specified copy source does not exist.",
  },
  CopySourceNotModified: {
    status: 304,
    code: "CannotVerifyCopySource",
    message: "The condition specified using HTTP conditional header(s) is not met.",
  },
  CopySourceTooLarge: {
    status: 409,
    code: "CannotVerifyCopySource",
    message:
      "The copy source is too large for this operation: copy it with Copy Blob, or in blocks.",
  },
  CopySourceUnauthorized: {
    status: 401,
    code: "CannotVerifyCopySource",
    message: "The copy source asks for credentials.",
  },
  CorsPreflightFailure: {
    status: 403,
    code: "CorsPreflightFailure",
    message: "CORS not enabled or no matching rule found for this request.",
  },
  Crc64Mismatch: {
    status: 400,
    code: "Crc64Mismatch",
    message:
      "The CRC64 value specified in the request did not match with the CRC64 value calculated by the server.",
  },
  DeletePending: {
    status: 409,
    code: "SMBDeletePending",
    message: "The specified resource is marked for deletion by an SMB client.",
  },
  DeleteShareWhenSnapshotLeased: {
    status: 409,
    code: "DeleteShareWhenSnapshotLeased",
    message: "Unable to delete share because one or more share snapshots have active leases.",
  },
  DirectoryIsNotEmpty: {
    status: 409,
    code: "DirectoryIsNotEmpty",
    message: "This operation is not permitted on a non-empty directory.",
  },
  DirectoryNotEmpty: {
    status: 409,
    code: "DirectoryNotEmpty",
    message: "The specified directory is not empty.",
  },
  DuplicatePropertiesSpecified: {
    status: 400,
    code: "DuplicatePropertiesSpecified",
    message: "A property is specified more than one time.",
  },
  DuplicateTagNames: {
    status: 400,
    code: "DuplicateTagNames",
    message: "The tags specified contain duplicate names.",
  },
  EmptyMetadataKey: {
    status: 400,
    code: "EmptyMetadataKey",
    message: "The key for one of the metadata key-value pairs is empty.",
  },
  EmptyTagName: {
    status: 400,
    code: "EmptyTagName",
    message: "The name of one of the tag key-value pairs is empty.",
  },
  EntityAlreadyExists: {
    status: 409,
    code: "EntityAlreadyExists",
    message: "The specified entity already exists.",
  },
  EntityTooLarge: {
    status: 400,
    code: "EntityTooLarge",
    message: "The entity is larger than the maximum size permitted.",
  },
  ExceedsMaxBatchRequestCount: {
    status: 400,
    code: "ExceedsMaxBatchRequestCount",
    message: "The batch operation exceeds maximum number of allowed subrequests.",
  },
  FeatureNotYetSupportedForHierarchicalNamespaceAccounts: {
    status: 409,
    code: "FeatureNotYetSupportedForHierarchicalNamespaceAccounts",
    message: "Specified feature is not yet supported for hierarchical namespace accounts.",
  },
  FeatureVersionMismatch: {
    status: 409,
    code: "FeatureVersionMismatch",
    message: "The operation for AppendBlob requires at least version 2015-02-21.",
  },
  FileGenerationMismatch: {
    status: 409,
    code: "FileGenerationMismatch",
    message: "The file has been recreated since the previous snapshot was taken.",
  },
  FileInvalidPermission: {
    status: 400,
    code: "FileInvalidPermission",
    message: "The specified file permission is not valid.",
  },
  FileInvalidPermissionKey: {
    status: 400,
    code: "FileInvalidPermissionKey",
    message: "The specified file permission key does not exist in the share.",
  },
  FileLockConflict: {
    status: 409,
    code: "FileLockConflict",
    message: "A portion of the specified file is locked by an SMB client.",
  },
  HandleLimitExceeded: {
    status: 400,
    code: "HandleLimitExceeded",
    message: "The file or directory has as many open handles as it can have.",
  },
  HierarchicalNamespaceNotEnabled: {
    status: 400,
    code: "HierarchicalNamespaceNotEnabled",
    message: "The hierarchical namespace is not enabled for this file system.",
  },
  HostInformationNotPresent: {
    status: 400,
    code: "HostInformationNotPresent",
    message:
      "The required host information is not present in the request. You must send a non-empty Host " +
      "header or include the absolute URI in the request line.",
  },
  IncompleteBody: {
    status: 400,
    code: "InvalidInput",
    message: "The request body ended before Content-Length bytes had come.",
  },
  IncrementalCopyBlobMismatch: {
    status: 409,
    code: "IncrementalCopyBlobMismatch",
    message:
      "The specified source blob is different than the copy source of the existing incremental copy blob.",
  },
  IncrementalCopyOfEarlierVersionSnapshotNotAllowed: {
    status: 409,
    code: "IncrementalCopyOfEarlierVersionSnapshotNotAllowed",
    message:
      "The specified snapshot is earlier than the last snapshot copied into the incremental copy blob.",
  },
  IncrementalCopySourceMustBeSnapshot: {
    status: 409,
    code: "IncrementalCopySourceMustBeSnapshot",
    message: "The source for incremental copy request must be a snapshot.",
  },
  InfiniteLeaseDurationRequired: {
    status: 412,
    code: "InfiniteLeaseDurationRequired",
    message: "The lease ID matched, but the specified lease must be an infinite-duration lease.",
  },
  InsufficientAccountPermissions: {
    status: 403,
    code: "InsufficientAccountPermissions",
    message: "Write operations are not allowed.",
  },
  InsufficientStorage: {
    status: 507,
    code: "InsufficientStorage",
    message: "The server has no space left to store the request. Free some space, then retry.",
  },
  InternalError: {
    status: 500,
    code: "InternalError",
    message: "The server encountered an internal error. Please retry the request.",
  },
  InvalidAccessControlList: {
    status: 400,
    // The service writes it like this, and clients compare codes.
    code: "InvaldAccessControlList",
    message: "The access control list value is invalid.",
  },
  InvalidAuthenticationInfo: {
    status: 400,
    code: "InvalidAuthenticationInfo",
    message:
      "Authentication information is not given in the correct format. Check the value of Authorization header.",
  },
  InvalidBearerToken: {
    status: 401,
    code: "InvalidAuthenticationInfo",
    message:
      "Server failed to authenticate the request. Please refer to the information in the www-authenticate header.",
  },
  InvalidBlobOrBlock: {
    status: 400,
    code: "InvalidBlobOrBlock",
    message: "The specified blob or block content is invalid.",
  },
  InvalidBlobTier: {
    status: 400,
    code: "InvalidBlobTier",
    message: "The specified blob tier is invalid.",
  },
  InvalidBlobType: {
    status: 409,
    code: "InvalidBlobType",
    message: "The blob type is invalid for this operation.",
  },
  InvalidBlockId: {
    status: 400,
    code: "InvalidBlockId",
    message: "The specified block ID is invalid. The block ID must be Base64-encoded.",
  },
  InvalidBlockList: {
    status: 400,
    code: "InvalidBlockList",
    message: "The specified block list is invalid.",
  },
  InvalidCrc64: {
    status: 400,
    code: "InvalidHeaderValue",
    message: "The CRC64 value specified in the request is invalid. It must be Base64-encoded.",
  },
  InvalidDestinationPath: {
    status: 409,
    code: "InvalidDestinationPath",
    message:
      "The specified path, or an element of the path, exists and its resource type is invalid for this operation.",
  },
  InvalidDuplicateRow: {
    status: 400,
    code: "InvalidDuplicateRow",
    message:
      "The batch request contains multiple changes with same row key. An entity can appear only once in a batch request.",
  },
  InvalidFileOrDirectoryPathName: {
    status: 400,
    code: "InvalidFileOrDirectoryPathName",
    message: "The specified file or directory path is too long or has too many subdirectories.",
  },
  InvalidFlushOperation: {
    status: 409,
    code: "InvalidFlushOperation",
    message:
      "The resource was created or modified by the Blob Service API and cannot be written to by the Data Lake Storage Service API.",
  },
  InvalidFlushPosition: {
    status: 400,
    code: "InvalidFlushPosition",
    message:
      "The uploaded data is not contiguous or the position query parameter value is not equal to the length of the file after appending the uploaded data.",
  },
  InvalidHandle: {
    status: 409,
    code: "InvalidHandle",
    message: "The handle is not open any more.",
  },
  InvalidHeaderValue: {
    status: 400,
    code: "InvalidHeaderValue",
    message: "The value for one of the HTTP headers is not in the correct format.",
  },
  InvalidHttpVerb: {
    status: 400,
    code: "InvalidHttpVerb",
    message: "The HTTP verb specified was not recognized by the server.",
  },
  InvalidInput: {
    status: 400,
    code: "InvalidInput",
    message: "One of the request inputs is not valid.",
  },
  InvalidMarker: {
    status: 400,
    code: "InvalidMarker",
    message: "The specified marker is invalid.",
  },
  InvalidMd5: {
    status: 400,
    code: "InvalidMd5",
    message:
      "The MD5 value specified in the request is invalid. The MD5 value must be 128 bits and Base64-encoded.",
  },
  InvalidMetadata: {
    status: 400,
    code: "InvalidMetadata",
    message: "The metadata specified is invalid. It has characters that are not permitted.",
  },
  InvalidPageRange: {
    status: 416,
    code: "InvalidPageRange",
    message: "The page range specified is invalid.",
  },
  InvalidQueryParameterValue: {
    status: 400,
    code: "InvalidQueryParameterValue",
    message: "Value for one of the query parameters specified in the request URI is invalid.",
  },
  InvalidRange: {
    status: 416,
    code: "InvalidRange",
    message: "The range specified is invalid for the current size of the resource.",
  },
  InvalidRenameSourcePath: {
    status: 409,
    code: "InvalidRenameSourcePath",
    message:
      "The source directory cannot be the same as the destination directory, nor can the destination be a subdirectory of the source directory.",
  },
  InvalidResourceName: {
    status: 400,
    code: "InvalidResourceName",
    message: "The specified resource name contains invalid characters.",
  },
  InvalidSourceBlobType: {
    status: 409,
    code: "InvalidSourceBlobType",
    message: "The copy source blob type is invalid for this operation.",
  },
  InvalidSourceBlobUrl: {
    status: 409,
    code: "InvalidSourceBlobUrl",
    message: "The source URL for incremental copy request must be valid Azure Storage blob URL.",
  },
  InvalidSourceOrDestinationResourceType: {
    status: 409,
    code: "InvalidSourceOrDestinationResourceType",
    message: "The source and destination resource type must be identical.",
  },
  InvalidSourceUri: {
    status: 400,
    code: "InvalidSourceUri",
    message: "The source URI is invalid.",
  },
  InvalidTag: {
    status: 400,
    code: "InvalidTag",
    message: "The tags specified are invalid. It contains characters that are not permitted.",
  },
  InvalidUri: {
    status: 400,
    code: "InvalidUri",
    message: "The requested URI does not represent any resource on the server.",
  },
  InvalidValueType: {
    status: 400,
    code: "InvalidValueType",
    message: "The value specified is invalid.",
  },
  InvalidVersionForPageBlobOperation: {
    status: 400,
    code: "InvalidVersionForPageBlobOperation",
    message: "All operations on page blobs require at least version 2009-09-19.",
  },
  InvalidXmlDocument: {
    status: 400,
    code: "InvalidXmlDocument",
    message: "XML specified is not syntactically valid.",
  },
  InvalidXmlNodeValue: {
    status: 400,
    code: "InvalidXmlNodeValue",
    message:
      "The value provided for one of the XML nodes in the request body was not in the correct format.",
  },
  KeyValueTooLarge: {
    status: 400,
    code: "KeyValueTooLarge",
    message: "A key property is larger than the maximum size permitted.",
  },
  LeaseAlreadyPresent: {
    status: 409,
    code: "LeaseAlreadyPresent",
    message: "There is already a lease present.",
  },
  LeaseIdMismatchWithBlobOperation: {
    status: 412,
    code: "LeaseIdMismatchWithBlobOperation",
    message: "The lease ID specified did not match the lease ID for the blob.",
  },
  LeaseIdMismatchWithContainerOperation: {
    status: 412,
    code: "LeaseIdMismatchWithContainerOperation",
    message: "The lease ID specified did not match the lease ID for the container.",
  },
  LeaseIdMismatchWithFileOperation: {
    status: 412,
    code: "LeaseIdMismatchWithFileOperation",
    message: "The lease ID specified did not match the lease ID for the file.",
  },
  LeaseIdMismatchWithLeaseOperation: {
    status: 409,
    code: "LeaseIdMismatchWithLeaseOperation",
    message: "The lease ID specified did not match the lease ID for the blob/container.",
  },
  LeaseIdMissing: {
    status: 412,
    code: "LeaseIdMissing",
    message:
      "There is currently a lease on the blob/container and no lease ID was specified in the request.",
  },
  LeaseIsBreakingAndCannotBeAcquired: {
    status: 409,
    code: "LeaseIsBreakingAndCannotBeAcquired",
    message:
      "The lease ID matched, but the lease is currently in breaking state and cannot be acquired until it is broken.",
  },
  LeaseIsBreakingAndCannotBeChanged: {
    status: 409,
    code: "LeaseIsBreakingAndCannotBeChanged",
    message:
      "The lease ID matched, but the lease is currently in breaking state and cannot be changed.",
  },
  LeaseIsBrokenAndCannotBeRenewed: {
    status: 409,
    code: "LeaseIsBrokenAndCannotBeRenewed",
    message:
      "The lease ID matched, but the lease has been broken explicitly and cannot be renewed.",
  },
  LeaseLost: {
    status: 412,
    code: "LeaseLost",
    message: "A lease ID was specified, but the lease for the blob/container has expired.",
  },
  LeaseNotPresentWithBlobOperation: {
    status: 412,
    code: "LeaseNotPresentWithBlobOperation",
    message: "There is currently no lease on the blob.",
  },
  LeaseNotPresentWithContainerOperation: {
    status: 412,
    code: "LeaseNotPresentWithContainerOperation",
    message: "There is currently no lease on the container.",
  },
  LeaseNotPresentWithFileOperation: {
    status: 412,
    code: "LeaseNotPresentWithFileOperation",
    message: "There is currently no lease on the file.",
  },
  LeaseNotPresentWithLeaseOperation: {
    status: 409,
    code: "LeaseNotPresentWithLeaseOperation",
    message: "There is currently no lease on the blob/container.",
  },
  MaxBlobSizeConditionNotMet: {
    status: 412,
    code: "MaxBlobSizeConditionNotMet",
    message: "The max blob size condition specified was not met.",
  },
  Md5Mismatch: {
    status: 400,
    code: "Md5Mismatch",
    message:
      "The MD5 value specified in the request did not match with the MD5 value calculated by the server.",
  },
  MediaTypeNotSupported: {
    status: 415,
    code: "MediaTypeNotSupported",
    message: "None of the provided media types are supported.",
  },
  MessageNotFound: {
    status: 404,
    code: "MessageNotFound",
    message: "The specified message does not exist.",
  },
  MetadataTooLarge: {
    status: 400,
    code: "MetadataTooLarge",
    message: "The size of the specified metadata exceeds the maximum size permitted.",
  },
  MethodNotAllowed: {
    status: 405,
    code: "MethodNotAllowed",
    message: "The requested method is not allowed on the specified resource.",
  },
  MissingContentLengthHeader: {
    status: 411,
    code: "MissingContentLengthHeader",
    message: "The Content-Length header was not specified.",
  },
  MissingRequiredHeader: {
    status: 400,
    code: "MissingRequiredHeader",
    message: "A required HTTP header was not specified.",
  },
  MissingRequiredQueryParameter: {
    status: 400,
    code: "MissingRequiredQueryParameter",
    message: "A required query parameter was not specified for this request.",
  },
  MissingRequiredXmlNode: {
    status: 400,
    code: "MissingRequiredXmlNode",
    message: "A required XML node was not specified in the request body.",
  },
  MultipleConditionHeadersNotSupported: {
    status: 400,
    code: "MultipleConditionHeadersNotSupported",
    message: "Multiple condition headers are not supported.",
  },
  MutuallyExclusiveQueryParameters: {
    status: 400,
    code: "MutuallyExclusiveQueryParameters",
    message: "Query parameters that exclude each other are specified in the request URI.",
  },
  NoAuthenticationInformation: {
    status: 401,
    code: "NoAuthenticationInformation",
    message:
      "Server failed to authenticate the request. Please refer to the information in the www-authenticate header.",
  },
  NoPendingCopyOperation: {
    status: 409,
    code: "NoPendingCopyOperation",
    message: "There is currently no pending copy operation.",
  },
  NotImplemented: {
    status: 501,
    code: "NotImplemented",
    message: "The requested operation is not implemented on the specified resource.",
  },
  NotModified: {
    status: 304,
    code: "ConditionNotMet",
    message: "The condition specified using HTTP conditional header(s) is not met.",
  },
  OperationNotAllowedOnIncrementalCopyBlob: {
    status: 409,
    code: "OperationNotAllowedOnIncrementalCopyBlob",
    message: "The specified operation is not allowed on an incremental copy blob.",
  },
  OperationNotAllowedOnRootBlob: {
    status: 403,
    code: "OperationNotAllowedOnRootBlob",
    message: "The specified operation is not allowed on root blob.",
  },
  OperationNotSupportedOnDirectory: {
    status: 400,
    code: "OperationNotSupportedOnDirectory",
    message: "The requested operation is not supported on a directory.",
  },
  OperationTimedOut: {
    status: 500,
    code: "OperationTimedOut",
    message: "The operation could not be completed within the permitted time.",
  },
  OutOfRangeInput: {
    status: 400,
    code: "OutOfRangeInput",
    message: "One of the request inputs is out of range.",
  },
  OutOfRangeQueryParameterValue: {
    status: 400,
    code: "OutOfRangeQueryParameterValue",
    message:
      "One of the query parameters specified in the request URI is outside the permissible range.",
  },
  ParentNotFound: {
    status: 404,
    code: "ParentNotFound",
    message: "The specified parent path does not exist.",
  },
  PathConflict: {
    status: 409,
    code: "PathConflict",
    message:
      "The specified path, or an element of the path, exists and its resource type is invalid for this operation.",
  },
  PendingCopyOperation: {
    status: 409,
    code: "PendingCopyOperation",
    message: "There is currently a pending copy operation.",
  },
  PermanentDeleteNotAllowed: {
    status: 409,
    code: "PermanentDeleteNotAllowed",
    message:
      "Only a deleted snapshot or version can be deleted permanently, where that is enabled.",
  },
  PopReceiptMismatch: {
    status: 400,
    code: "PopReceiptMismatch",
    message: "The specified pop receipt did not match the pop receipt for a dequeued message.",
  },
  PreviousSnapshotCannotBeNewer: {
    status: 400,
    code: "PreviousSnapshotCannotBeNewer",
    message:
      "The prevsnapshot query parameter value cannot be newer than snapshot query parameter value.",
  },
  PreviousSnapshotNotFound: {
    status: 409,
    code: "PreviousSnapshotNotFound",
    message: "The previous snapshot is not found.",
  },
  PreviousSnapshotOperationNotSupported: {
    status: 409,
    code: "PreviousSnapshotOperationNotSupported",
    message: "Differential Get Page Ranges is not supported on the previous snapshot.",
  },
  PropertiesNeedValue: {
    status: 400,
    code: "PropertiesNeedValue",
    message: "The values are not specified for all properties in the entity.",
  },
  PropertyNameInvalid: {
    status: 400,
    code: "PropertyNameInvalid",
    message: "The property name is invalid.",
  },
  PropertyNameTooLong: {
    status: 400,
    code: "PropertyNameTooLong",
    message: "The property name exceeds the maximum allowed length.",
  },
  PropertyValueTooLarge: {
    status: 400,
    code: "PropertyValueTooLarge",
    message: "The property value is larger than the maximum size permitted.",
  },
  QueryParameterSasMandatory: {
    status: 403,
    code: "QueryParameterSasMandatory",
    message: "The sdd parameter is mandatory in case of directory SAS. Cannot be empty.",
  },
  QueryParameterSddInvalid: {
    status: 403,
    code: "QueryParameterSddInvalid",
    message: "Invalid sdd parameter.",
  },
  QueueAlreadyExists: {
    status: 409,
    code: "QueueAlreadyExists",
    message: "The specified queue already exists.",
  },
  QueueNotFound: {
    status: 404,
    code: "QueueNotFound",
    message: "The specified queue does not exist.",
  },
  ReadOnlyAttribute: {
    status: 409,
    code: "ReadOnlyAttribute",
    message: "The specified resource is read-only and cannot be modified at this time.",
  },
  RenameDestinationParentPathNotFound: {
    status: 404,
    code: "RenameDestinationParentPathNotFound",
    message: "The parent directory of the destination path does not exist.",
  },
  RequestBodyTooLarge: {
    status: 413,
    code: "RequestBodyTooLarge",
    message: "The request body is too large and exceeds the maximum permissible limit.",
  },
  ResourceAlreadyExists: {
    status: 409,
    code: "ResourceAlreadyExists",
    message: "The specified resource already exists.",
  },
  ResourceNameLength: {
    status: 400,
    code: "OutOfRangeInput",
    message: "The specified resource name length is not within the permissible limits.",
  },
  ResourceNotFound: {
    status: 404,
    code: "ResourceNotFound",
    message: "The specified resource does not exist.",
  },
  ResourceTypeMismatch: {
    status: 409,
    code: "ResourceTypeMismatch",
    message: "The specified resource type does not match the type of the existing resource.",
  },
  SequenceNumberConditionNotMet: {
    status: 412,
    code: "SequenceNumberConditionNotMet",
    message: "The sequence number condition specified was not met.",
  },
  SequenceNumberIncrementTooLarge: {
    status: 409,
    code: "SequenceNumberIncrementTooLarge",
    message:
      "The sequence number increment cannot be performed because it would result in overflow of the sequence number.",
  },
  ServerBusy: {
    status: 503,
    code: "ServerBusy",
    message: "The server is currently unable to receive requests. Please retry your request.",
  },
  ShareAlreadyExists: {
    status: 409,
    code: "ShareAlreadyExists",
    message: "The specified share already exists.",
  },
  ShareHasSnapshots: {
    status: 409,
    code: "ShareHasSnapshots",
    message: "The share has snapshots and the operation requires no snapshots.",
  },
  ShareNotFound: {
    status: 404,
    code: "ShareNotFound",
    message: "The specified share does not exist.",
  },
  ShareSizeLimitReached: {
    status: 413,
    code: "ShareSizeLimitReached",
    message: "The share has reached its size limit.",
  },
  ShareSnapshotCountExceeded: {
    status: 409,
    code: "ShareSnapshotCountExceeded",
    message: "The total number of snapshots for the share is over the limit.",
  },
  ShareSnapshotNotFound: {
    status: 404,
    code: "ShareSnapshotNotFound",
    message: "The specified share snapshot does not exist.",
  },
  SharingViolation: {
    status: 409,
    code: "SharingViolation",
    message: "The specified resource may be in use by an SMB client.",
  },
  SnapshotsPresent: {
    status: 409,
    code: "SnapshotsPresent",
    message: "This operation is not permitted while the blob has snapshots.",
  },
  SourceConditionNotMet: {
    status: 412,
    code: "SourceConditionNotMet",
    message: "The source condition specified using HTTP conditional header(s) is not met.",
  },
  SourcePathNotFound: {
    status: 404,
    code: "SourcePathNotFound",
    message: "The source path for a rename operation does not exist.",
  },
  TableAlreadyExists: {
    status: 409,
    code: "TableAlreadyExists",
    message: "The table specified already exists.",
  },
  TableNotFound: {
    status: 404,
    code: "TableNotFound",
    message: "The table specified does not exist.",
  },
  TagsTooLarge: {
    status: 400,
    code: "TagsTooLarge",
    message: "The tags specified exceed the maximum permissible limit.",
  },
  TargetConditionNotMet: {
    status: 412,
    code: "TargetConditionNotMet",
    message: "The target condition specified using HTTP conditional header(s) is not met.",
  },
  TooManyProperties: {
    status: 400,
    code: "TooManyProperties",
    message: "The entity contains more properties than allowed.",
  },
  TooManyRequests: {
    status: 429,
    code: "TooManyRequests",
    message: "The request is being throttled.",
  },
  UnauthorizedBlobOverwrite: {
    status: 403,
    code: "UnauthorizedBlobOverwrite",
    message: "This request is not authorized to perform blob overwrites.",
  },
  UnsatisfiableCondition: {
    status: 400,
    code: "UnsatisfiableCondition",
    message: "The request includes an unsatisfiable condition for this operation.",
  },
  UnsupportedHeader: {
    status: 400,
    code: "UnsupportedHeader",
    message: "One of the HTTP headers specified in the request is not supported.",
  },
  UnsupportedHttpVerb: {
    status: 405,
    code: "UnsupportedHttpVerb",
    message: "The resource doesn't support the specified HTTP verb.",
  },
  UnsupportedQueryParameter: {
    status: 400,
    code: "UnsupportedQueryParameter",
    message: "One of the query parameters specified in the request URI is not supported.",
  },
  UnsupportedXmlNode: {
    status: 400,
    code: "UnsupportedXmlNode",
    message: "One of the XML nodes specified in the request body is not supported.",
  },
  UpdateConditionNotSatisfied: {
    status: 412,
    code: "UpdateConditionNotSatisfied",
    message: "The update condition specified in the request was not satisfied.",
  },
  XMethodIncorrectCount: {
    status: 400,
    code: "XMethodIncorrectCount",
    message: "More than one X-HTTP-Method is specified.",
  },
  XMethodIncorrectValue: {
    status: 400,
    code: "XMethodIncorrectValue",
    message: "X-HTTP-Method is invalid.",
  },
  XMethodNotUsingPost: {
    status: 400,
    code: "XMethodNotUsingPost",
    message: "The request uses X-HTTP-Method with an HTTP verb other than POST.",
  },
};

/** Codes and messages of the Data Lake protocol, where they differ. */
export const DATALAKE_FAULTS: { readonly [code in FaultCode]?: Omit<RestFault, "status"> } = {
  BlobAlreadyExists: {
    code: "PathAlreadyExists",
    message: "The specified path already exists.",
  },
  BlobNotFound: { code: "PathNotFound", message: "The specified path does not exist." },
  ContainerAlreadyExists: {
    code: "FilesystemAlreadyExists",
    message: "The specified filesystem already exists.",
  },
  ContainerNotFound: {
    code: "FilesystemNotFound",
    message: "The specified filesystem does not exist.",
  },
  DirectoryNotEmpty: {
    code: "DirectoryNotEmpty",
    message: "The recursive query parameter value must be true to delete a non-empty directory.",
  },
  EmptyMetadataKey: {
    code: "InvalidPropertyName",
    message: "A property name cannot be empty.",
  },
  InvalidMetadata: {
    code: "InvalidPropertyName",
    message: "The property name contains invalid characters.",
  },
  LeaseIdMismatchWithBlobOperation: {
    code: "LeaseIdMismatch",
    message: "The lease ID specified did not match the lease ID for the resource.",
  },
  LeaseIdMismatchWithContainerOperation: {
    code: "LeaseIdMismatch",
    message: "The lease ID specified did not match the lease ID for the resource.",
  },
  LeaseIdMismatchWithLeaseOperation: {
    code: "LeaseIdMismatchWithLeaseOperation",
    message:
      "The lease ID specified did not match the lease ID for the resource with the specified lease operation.",
  },
  LeaseIdMissing: {
    code: "LeaseIdMissing",
    message:
      "There is currently a lease on the resource and no lease ID was specified in the request.",
  },
  LeaseLost: {
    code: "LeaseLost",
    message: "A lease ID was specified, but the lease for the resource has expired.",
  },
  LeaseNotPresentWithBlobOperation: {
    code: "LeaseNotPresent",
    message: "There is currently no lease on the resource.",
  },
  LeaseNotPresentWithContainerOperation: {
    code: "LeaseNotPresent",
    message: "There is currently no lease on the resource.",
  },
  LeaseNotPresentWithLeaseOperation: {
    code: "LeaseNotPresentWithLeaseOperation",
    message: "There is currently no lease on the resource.",
  },
};

/**
 * Messages of the File service, where leases are on files and shares although the codes say
 * otherwise.
 */
export const FILE_MESSAGES: { readonly [code in FaultCode]?: string } = {
  LeaseIdMismatchWithContainerOperation:
    "The lease ID specified did not match the lease ID for the share.",
  LeaseIdMismatchWithLeaseOperation:
    "The lease ID specified did not match the lease ID for the file/share.",
  LeaseIdMissing:
    "There is currently a lease on the file/share and no lease ID was specified in the request.",
  LeaseLost: "A lease ID was specified, but the lease for the file/share has expired.",
  LeaseNotPresentWithContainerOperation: "There is currently no lease on the share.",
  LeaseNotPresentWithLeaseOperation: "There is currently no lease on the file/share.",
};
