const paths = {
  plus: 'M8 3v10M3 8h10',
  cross: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  download: 'M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11',
  upload: 'M8 11V3M4.5 6L8 2.5 11.5 6M2.5 13.5h11',
  paste: 'M5 3H3v11h10V3h-2M6 2h4v2.5H6z',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.8 10.8L14 14',
  filter: 'M2 4h12M4.5 8h7M7 12h2',
  next: 'M6 3l5 5-5 5',
  previous: 'M10 3L5 8l5 5',
  down: 'M4 6l4 4 4-4',
  warning: 'M8 2l6.5 11.5h-13zM8 6.5v3.5M8 12h.01',
  batches: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  projects:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M11 7.5a2 2 0 0 0 0-4M12 9.7c1.6.5 2.6 1.9 2.6 3.8',
  devices: 'M3 3h.01M8 3h.01M13 3h.01M3 8h.01M8 8h.01M13 8h.01M3 13h.01M8 13h.01M13 13h.01M3 3l10 10M13 3L3 13',
  usage: 'M2.5 13.5h11M4.5 13v-4M8 13V3M11.5 13V6.5',
  operate: 'M2.5 4.5h6M12 4.5h1.5M2.5 11.5H4M7.5 11.5h6M10 2.8v3.4M5.8 9.8v3.4',
  limits: 'M2.5 12a5.7 5.7 0 1 1 11 0M8 10.5l2.5-3.5',
  audit: 'M4 2.5h8v11H4zM6.5 5.5h3M6.5 8h3M6.5 10.5h3',
  code: 'M5.5 4L2 8l3.5 4M10.5 4L14 8l-3.5 4',
} as const;

export type IconName = keyof typeof paths;

/** A small picture beside a word, which says the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
