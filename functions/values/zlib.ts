/** Node's `zlib`, loaded when it is first needed: its import takes 2 ms of a cold start. */
export const zlib = () => process.getBuiltinModule('node:zlib');
