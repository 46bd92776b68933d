/**
 * The mark of the service for pages without scripts, as console/ui/mark.tsx draws it: a register of
 * 3 × 3 atoms. Neighbors are never both excited. The console's stylesheet colors it.
 */
export const mark = `<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path class="bond" d="M4 4h16v16H4zM4 12h16M12 4v16" fill="none"/>${atoms()}</svg>`;

/** The icon of every page: the mark in a violet that is seen on light and on dark tabs. */
export const iconAddress = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="#6a5cf0">${atoms()}</svg>`,
)}`;

function atoms(): string {
  const places = [4, 12, 20];
  const circles = places.flatMap((y, row) =>
    places.map((x, column) => {
      const isExcited = (row + column) % 2 === 0;
      return `<circle cx="${x}" cy="${y}" ${isExcited ? 'class="one" r="3"' : 'r="1.6" fill-opacity="0.6"'}/>`;
    }),
  );
  return circles.join('');
}
