import { createHash, createHmac } from 'node:crypto';

/** Node's own, in the form that the SDK's signer asks for: an HMAC where there is a secret. */
export class Sha256 {
  readonly #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string | NodeJS.ArrayBufferView);
  }

  update(chunk: string | ArrayBuffer | ArrayBufferView) {
    this.#hash.update(chunk as string | NodeJS.ArrayBufferView);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset() {}
}
