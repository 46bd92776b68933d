/** The sign of the console: a register of 3 × 3 atoms. Neighbors are never both excited. */
export function Mark({ isEmpty = false }: { readonly isEmpty?: boolean }) {
  const places = [4, 12, 20];
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <path class="bond" d="M4 4h16v16H4zM4 12h16M12 4v16" fill="none" />
      {places.flatMap((x, column) =>
        places.map((y, row) => {
          const isExcited = !isEmpty && (column + row) % 2 === 0;
          return (
            <circle key={`${x} ${y}`} class={isExcited ? 'one' : undefined} cx={x} cy={y} r={isExcited ? 3 : 1.6} />
          );
        }),
      )}
    </svg>
  );
}
