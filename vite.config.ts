import { defineConfig } from "vite";

// Relative URLs work under any base path. Nothing is inlined, because the
// Content-Security-Policy allows fonts and scripts from the server only.
export default defineConfig({
  root: "web",
  base: "./",
  build: {
    outDir: "../static/dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    sourcemap: false,
    target: "es2022",
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
  },
});
