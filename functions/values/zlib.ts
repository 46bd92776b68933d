/** Node's `zlib`, loaded when it is first needed: an import takes 2 ms of CPU time at a cold start. */
export const zlib = () => process.getBuiltinModule('node:zlib');
