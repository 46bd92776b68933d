export function JobView() {
  return <h1>JobView</h1>;
}
