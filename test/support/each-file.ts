/** Every random test takes the seed of this run. fast-check prints it with a failure. */

import * as fc from 'fast-check';
import { seed } from './seed.ts';

fc.configureGlobal({ seed });
