import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

/** What the page is built from and has to name, as their licences ask. */
const bundled = [
  "@xterm/xterm",
  "@xterm/addon-fit",
  "@xterm/addon-unicode-graphemes",
  "@xterm/addon-web-links",
  "@xterm/addon-webgl",
  "@fontsource/jetbrains-mono",
];

// Relative URLs work under any base path. Nothing is inlined, because the
// Content-Security-Policy allows fonts and scripts from the server only.
export default defineConfig({
  root: "web",
  base: "./",
  plugins: [licences()],
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

/** Puts the licences of what is bundled beside the page. */
function licences(): Plugin {
  return {
    name: "licences",
    apply: "build",
    generateBundle() {
      const source = bundled
        .map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`)
        .join("\n----\n\n");
      this.emitFile({ type: "asset", fileName: "licences.txt", source });
    },
  };
}
