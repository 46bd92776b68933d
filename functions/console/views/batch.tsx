export function BatchView() {
  return <h1>BatchView</h1>;
}
