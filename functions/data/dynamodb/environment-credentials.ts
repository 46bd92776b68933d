/**
 * Takes the place of the SDK's credential chain in bundles: in Lambda credentials come from the
 * environment, first and always. The rest of the chain (profiles, single sign-on, instance
 * metadata) was a quarter of a bundle and a seventh of its start.
 */

import { fromEnv } from '@aws-sdk/credential-provider-env';

/** The name under which the SDK's clients import their chain. */
export const defaultProvider = () => fromEnv();
