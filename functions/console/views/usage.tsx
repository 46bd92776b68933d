export function UsageView() {
  return <h1>UsageView</h1>;
}
