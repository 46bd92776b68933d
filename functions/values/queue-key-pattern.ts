/** A place in a device's queue as a text: tag, priority, time of creation, batch. */
export const queueKeyPattern =
  /^(\d{16})\.([0-4])\.(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
