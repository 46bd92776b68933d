/** esbuild writes what modules import of it into page.css. */
declare module '*.css';
