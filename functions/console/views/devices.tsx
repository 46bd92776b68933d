export function DevicesView() {
  return <h1>DevicesView</h1>;
}
