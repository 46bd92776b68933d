/** The name of a table that was restored, beside the one that it replaces. */
export function restoredName(stackName: string, table: string, restored: string): string {
  return `${stackName}-Storage${table}-${restored}`;
}
