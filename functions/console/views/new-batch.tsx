export function NewBatchView() {
  return <h1>NewBatchView</h1>;
}
