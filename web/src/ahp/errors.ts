/** The host answered a request with an error. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(message);
  }
}

/** The host did not do what it was told, and says why. */
export class Refusal extends Error {}

/** There is no connection, or it was lost before the answer came. */
export class Lost extends Error {
  constructor() {
    super('The server cannot be reached.');
  }
}

/** The answer took too long. */
export class Timeout extends Error {
  constructor() {
    super('The server did not answer in time.');
  }
}
