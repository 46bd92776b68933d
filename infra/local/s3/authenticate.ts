import { createHash } from 'node:crypto';
import type { Principal, Principals } from '../iam/principals.ts';
import { isSignedBy, readSignatureClaim, type SignatureClaim, type SignedRequest } from '../iam/sigv4.ts';
import { Refusal } from '../service/refusal.ts';

const oneWeekSeconds = 604_800;
/** How far the clocks of signer and store may be apart. */
const clockSkewSeconds = 15 * 60;

/**
 * Finds out who signed the request, in its Authorization header or as a pre-signed URL. `now` is in
 * milliseconds since 1970. Throws Refusal when S3 would refuse the signature.
 */
export async function authenticate(
  { request, body, now }: { readonly request: SignedRequest; readonly body: Buffer; readonly now: number },
  principals: Principals,
): Promise<{ principal: Principal; claim: SignatureClaim }> {
  const claim = readSignatureClaim(request);
  if (claim === undefined) {
    const malformed = Object.keys(request.query).some((name) => /^x-amz-(signature|credential)$/i.test(name));
    if (malformed) {
      throw new Refusal('AuthorizationQueryParametersError', 'Error parsing the signature parameters of the query');
    }
    throw new Refusal('AccessDenied', 'Access Denied', 403);
  }
  const principal = principals.get(claim.accessKeyId);
  if (principal === undefined) {
    throw new Refusal('InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.', 403);
  }
  requireCurrent(claim, now);
  const declared = request.headers['x-amz-content-sha256'];
  const payloadHash = claim.presigned ? 'UNSIGNED-PAYLOAD' : String(declared);
  const unsigned = Object.keys(request.headers).filter(
    (name) => name.startsWith('x-amz-') && !claim.signedHeaders.includes(name),
  );
  if (unsigned.length > 0) {
    throw new Refusal('AccessDenied', 'There were headers present in the request which were not signed', 403);
  }
  if (
    claim.service !== 's3' ||
    !claim.signedHeaders.includes('host') ||
    !(await isSignedBy(principal.credentials, claim, { request, payloadHash }))
  ) {
    throw new Refusal(
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
      403,
    );
  }
  if (/^[0-9a-f]{64}$/.test(payloadHash) && createHash('sha256').update(body).digest('hex') !== payloadHash) {
    throw new Refusal(
      'XAmzContentSHA256Mismatch',
      "The provided 'x-amz-content-sha256' header does not match what was computed.",
    );
  }
  return { principal, claim };
}

/** Throws Refusal unless the signature is valid at this time. */
function requireCurrent(claim: SignatureClaim, now: number) {
  const age = (now - claim.date.getTime()) / 1000;
  if (claim.presigned) {
    if (claim.expiresIn < 1 || claim.expiresIn > oneWeekSeconds) {
      throw new Refusal('AuthorizationQueryParametersError', 'X-Amz-Expires must be between 1 second and one week');
    }
    if (age > claim.expiresIn) throw new Refusal('AccessDenied', 'Request has expired', 403);
    if (age < -clockSkewSeconds) throw new Refusal('AccessDenied', 'Request is not yet valid', 403);
  } else if (Math.abs(age) > clockSkewSeconds) {
    throw new Refusal(
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
      403,
    );
  }
}
