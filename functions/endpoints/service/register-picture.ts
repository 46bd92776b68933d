/** Atoms to a side, and how far they are apart in the picture. */
const side = 9;
const spacing = 52;

/** Right of the wall between two domains, the other half of the atoms is excited. */
const isBeyondWall = (column: number, row: number) => column + row / 2 > 7.5;
const isInOrder = (column: number, row: number) => (column + row + (isBeyondWall(column, row) ? 1 : 0)) % 2 === 0;

/** Neighbors are never both excited: at the wall, the atoms beyond it stay in the ground state. */
function isExcited(column: number, row: number): boolean {
  const isBlocked = [
    [-1, 0],
    [0, -1],
  ].some(([x = 0, y = 0]) => !isBeyondWall(column + x, row + y) && isInOrder(column + x, row + y));
  return isInOrder(column, row) && !(isBeyondWall(column, row) && isBlocked);
}

/** The atom whose blockade is drawn. */
const blockaded = { column: 3, row: 5 };

/**
 * A square register in antiferromagnetic order, with a wall between two domains. It is ornament, so
 * readers of the screen do not hear of it.
 */
export const registerPicture = draw();

function draw(): string {
  const indices = [...Array(side).keys()];
  const atoms = indices.flatMap((row) => indices.map((column) => atom(column, row)));
  const margin = spacing / 2;
  const size = (side - 1) * spacing + 2 * margin;
  const { column, row } = blockaded;
  const blockade = `<circle class="blockade" cx="${column * spacing}" cy="${row * spacing}" r="${1.3 * spacing}"/>`;
  return `<svg class="art" viewBox="${-margin} ${-margin} ${size} ${size}" aria-hidden="true">${blockade}${atoms.join('')}</svg>`;
}

/** Atoms fade towards the corners. */
function atom(column: number, row: number): string {
  const middle = (side - 1) / 2;
  const distance = Math.hypot(column - middle, row - middle) / middle;
  const opacity = Math.max(0.15, Math.min(1, 1.5 - distance)).toFixed(2);
  const place = `cx="${column * spacing}" cy="${row * spacing}"`;
  return isExcited(column, row)
    ? `<circle class="one" ${place} r="13" fill-opacity="${opacity}"/>`
    : `<circle class="ground" ${place} r="5" stroke-opacity="${opacity}"/>`;
}
