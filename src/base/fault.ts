/**
 * Every refusal, in the service's own words. A front end spells each of them in its protocol; a
 * new code does not compile until all of them do.
 */
export const FAULT_CODES = [
  "AccessTierNotSupportedForBlobType",
  "AppendPositionConditionNotMet",
  "AtomFormatNotSupported",
  "AuthenticationFailed",
  "AuthorizationFailure",
  "AuthorizationPermissionMismatch",
  "AuthorizationProtocolMismatch",
  "AuthorizationResourceTypeMismatch",
  "AuthorizationServiceMismatch",
  "AuthorizationSourceIPMismatch",
  "BlobAlreadyExists",
  "BlobArchived",
  "BlobBeingRehydrated",
  "BlobIsSealed",
  "BlobNotFound",
  "BlockCountExceedsLimit",
  "BlockListTooLong",
  "BothCrc64AndMd5HeaderPresent",
  "CannotDeleteFileOrDirectory",
  "CannotVerifyCopySource",
  "CommandsInBatchActOnDifferentPartitions",
  "ConditionNotMet",
  "ContainerAlreadyExists",
  "ContainerNotFound",
  "CopyIdMismatch",
  "CorsPreflightFailure",
  "Crc64Mismatch",
  "DeletePending",
  "DuplicatePropertiesSpecified",
  "DuplicateTagNames",
  "EmptyMetadataKey",
  "EmptyTagName",
  "EntityAlreadyExists",
  "EntityTooLarge",
  "FeatureVersionMismatch",
  "FileLockConflict",
  "IncompleteBody",
  "InfiniteLeaseDurationRequired",
  "InsufficientAccountPermissions",
  "InsufficientStorage",
  "InternalError",
  "InvalidAuthenticationInfo",
  "InvalidBearerToken",
  "InvalidBlobOrBlock",
  "InvalidBlobTier",
  "InvalidBlobType",
  "InvalidBlockId",
  "InvalidBlockList",
  "InvalidCrc64",
  "InvalidDuplicateRow",
  "InvalidFileOrDirectoryPathName",
  "InvalidHeaderValue",
  "InvalidHttpVerb",
  "InvalidInput",
  "InvalidMarker",
  "InvalidMd5",
  "InvalidMetadata",
  "InvalidOperation",
  "InvalidPageRange",
  "InvalidQueryParameterValue",
  "InvalidRange",
  "InvalidResourceName",
  "InvalidSourceBlobType",
  "InvalidTag",
  "InvalidUri",
  "InvalidValueType",
  "InvalidXmlDocument",
  "InvalidXmlNodeValue",
  "KeyValueTooLarge",
  "LeaseAlreadyPresent",
  "LeaseIdMismatchWithBlobOperation",
  "LeaseIdMismatchWithContainerOperation",
  "LeaseIdMismatchWithFileOperation",
  "LeaseIdMismatchWithLeaseOperation",
  "LeaseIdMissing",
  "LeaseIsBreakingAndCannotBeAcquired",
  "LeaseIsBreakingAndCannotBeChanged",
  "LeaseIsBrokenAndCannotBeRenewed",
  "LeaseLost",
  "LeaseNotPresentWithBlobOperation",
  "LeaseNotPresentWithContainerOperation",
  "LeaseNotPresentWithFileOperation",
  "LeaseNotPresentWithLeaseOperation",
  "MaxBlobSizeConditionNotMet",
  "Md5Mismatch",
  "MediaTypeNotSupported",
  "MessageNotFound",
  "MessageTooLarge",
  "MetadataTooLarge",
  "MethodNotAllowed",
  "MissingContentLengthHeader",
  "MissingRequiredHeader",
  "MissingRequiredQueryParameter",
  "MissingRequiredXmlNode",
  "MultipleConditionHeadersNotSupported",
  "NoAuthenticationInformation",
  "NoPendingCopyOperation",
  "NotImplemented",
  "NotModified",
  "OperationTimedOut",
  "OutOfRangeInput",
  "OutOfRangeQueryParameterValue",
  "PendingCopyOperation",
  "PopReceiptMismatch",
  "PreviousSnapshotNotFound",
  "PropertiesNeedValue",
  "PropertyNameInvalid",
  "PropertyNameTooLong",
  "PropertyValueTooLarge",
  "QueryParameterSasMandatory",
  "QueryParameterSddInvalid",
  "QueueAlreadyExists",
  "QueueNotFound",
  "RequestBodyTooLarge",
  "RequestUrlFailedToParse",
  "ResourceAlreadyExists",
  "ResourceNotFound",
  "ResourceTypeMismatch",
  "SequenceNumberConditionNotMet",
  "SequenceNumberIncrementTooLarge",
  "ServerBusy",
  "SharingViolation",
  "SnapshotsPresent",
  "SourceConditionNotMet",
  "TableAlreadyExists",
  "TableNotFound",
  "TagsTooLarge",
  "TargetConditionNotMet",
  "TooManyProperties",
  "UnauthorizedBlobOverwrite",
  "UnsatisfiableCondition",
  "UnsupportedHeader",
  "UnsupportedHttpVerb",
  "UnsupportedQueryParameter",
  "UnsupportedXmlNode",
  "UpdateConditionNotSatisfied",
  "XMethodIncorrectCount",
  "XMethodIncorrectValue",
  "XMethodNotUsingPost",
] as const;

export type FaultCode = (typeof FAULT_CODES)[number];

/** What the client should know beyond the code, such as the header that was wrong. */
export type FaultDetail = Readonly<Record<string, string>>;

const NO_DETAIL: FaultDetail = {};

/** A request was refused. Nothing was written, and the client is told why. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly detail: FaultDetail;

  constructor(code: FaultCode, detail: FaultDetail = NO_DETAIL) {
    // A refusal is an answer, not an accident: nobody looks at its stack, which is costly to make.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(code);
    Error.stackTraceLimit = limit;
    this.name = "Fault";
    this.code = code;
    this.detail = detail;
  }
}

/** Throws what a rule refused; passes if it refused nothing. */
export function refuse(code: FaultCode | null): void {
  if (code !== null) throw new Fault(code);
}
