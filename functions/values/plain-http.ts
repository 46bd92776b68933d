/**
 * Node's `http`, for addresses that are not https. A static import would load `fetch`, too: some
 * 40 ms of a cold start.
 */
export const plainHttp = () => process.getBuiltinModule('node:http');
