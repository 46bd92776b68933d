import { join } from 'node:path';

/** Where Node keeps what it has compiled, for NODE_COMPILE_CACHE: later starts take less time. */
export const compileCache = join(import.meta.dirname, '../../../node_modules/.cache/compile');
