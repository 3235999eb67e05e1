/** An error of the sandbox's API: an HTTP status, TiDB Cloud's own code and a sentence. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    readonly code: number,
    message: string,
  ) {
    super(message);
  }

  /** `{code, message, details}`: the gateway's errors on both hosts, and all of the clusters' API. */
  rpcStatus(): object {
    return { code: this.code, message: this.message, details: [] };
  }

  /** `{code, error, msgPrefix, status}`: IAM's own. */
  iamError(): object {
    return { code: String(this.code), error: this.message, msgPrefix: 'iam', status: this.status };
  }
}

/** 400: the input is wrong. */
export function invalidArgument(message: string): ApiError {
  return new ApiError(400, 3, message);
}

/** 400: a ceiling of the organization is reached. */
export function failedPrecondition(message: string): ApiError {
  return new ApiError(400, 9, message);
}

/** 404: no such resource in this organization. */
export function notFound(what: string): ApiError {
  return new ApiError(404, 5, `${what} not found`);
}

/** 409: the resource's present state does not allow it. */
export function aborted(message: string): ApiError {
  return new ApiError(409, 10, message);
}
