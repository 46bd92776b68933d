export function OperateView() {
  return <h1>OperateView</h1>;
}
