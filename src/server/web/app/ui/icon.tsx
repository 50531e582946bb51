/** Icons drawn on a 16 × 16 grid with round lines 1.5 wide, in the colour of the surrounding text. */
const PATHS = {
  plug: "M6 2v3M10 2v3M4 5h8v3a4 4 0 0 1-8 0zM8 12v2.5",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3L14 14",
  key: "M10.5 2a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM8 8l-5.5 5.5h2M4.5 11.5l1.5 1.5M10.8 5.2h.01",
  link: "M6.5 9.5l3-3M7 4.5l1-1a2.8 2.8 0 0 1 4 4l-1 1M9 11.5l-1 1a2.8 2.8 0 0 1-4-4l1-1",
  eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
  person: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c.6-2.8 2.8-4 5.5-4s4.9 1.2 5.5 4",
  people:
    "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c.4-2.3 2.2-3.5 4.5-3.5s4.1 1.2 4.5 3.5M10.5 3.3a2.5 2.5 0 0 1 0 4.4M12.3 10.3c1.2.6 2 1.7 2.2 3.2",
  devices: "M2 3.5h12v7.5H2zM5.5 13.5h5M8 11v2.5",
  server: "M2.5 2.5h11v4.5h-11zM2.5 9h11v4.5h-11zM5 4.75h.01M5 11.25h.01M8 4.75h3M8 11.25h3",
  groups:
    "M5 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM11 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 14.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM5 5.5v2.5h6V5.5M8 8v2.5",
  mail: "M2 3.5h12v9H2zM2.5 4l5.5 5 5.5-5",
  sliders: "M2 5h6M12 5h2M2 11h2M8 11h6M10 3.2v3.6M6 9.2v3.6",
  list: "M5.5 4h8.5M5.5 8h8.5M5.5 12h8.5M2 4h.01M2 8h.01M2 12h.01",
  menu: "M2 4h12M2 8h12M2 12h12",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M6 5.5h7.5v8H6zM3.5 10.5h-1v-8H10v1",
  check: "M3 8.5l3.2 3.2L13 4.5",
  chevrons: "M5 6l3-3 3 3M5 10l3 3 3-3",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  plus: "M8 3v10M3 8h10",
  sun: "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9",
  moon: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z",
  system: "M2 3h12v8H2zM6 13.5h4",
  out: "M6.5 13.5h-4v-11h4M10 5l3 3-3 3M13 8H6",
  external: "M6 3.5H3v9.5h9.5v-3M9 2.5h4.5V7M13 3L7.5 8.5",
  warning: "M8 2.5l6 10.5H2zM8 6.5v3M8 11.2h.01",
} as const;

export type IconName = keyof typeof PATHS;

/** An icon next to words. It is hidden from screen readers, which read the words. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      className="shrink-0"
      fill="none"
      height={size}
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.5"
      viewBox="0 0 16 16"
      width={size}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The product's logo. */
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg aria-hidden="true" className="shrink-0" height={size} viewBox="0 0 32 32" width={size}>
      <rect fill="#1f5a52" height="32" rx="7" width="32" />
      <path
        d="M9 7v18M9 17.5l6.5-6.5M11.8 15l5.2 10"
        fill="none"
        stroke="#fff"
        strokeLinecap="round"
        strokeLinejoin="round"
        strokeWidth="2.8"
      />
      <circle cx="22.3" cy="11.5" fill="none" r="3.6" stroke="#9fe0d0" strokeWidth="2.4" />
      <path d="M25 14.2l2.5 2.5" stroke="#9fe0d0" strokeLinecap="round" strokeWidth="2.4" />
    </svg>
  );
}
