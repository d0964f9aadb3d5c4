import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// Nothing is inlined: the content security
// policy forbids inline scripts and styles.
export default defineConfig({
  plugins: [svelte()],
  build: { outDir: "../dist", emptyOutDir: true, assetsInlineLimit: 0, target: "es2022", reportCompressedSize: false, modulePreload: { polyfill: false } },
  // INTERLOCK_URL is a running server, for `npx vite`.
  server: { proxy: Object.fromEntries(["/api", "/runs", "/datasets", "/readyz"].map((path) => [path, process.env.INTERLOCK_URL ?? "http://127.0.0.1:8765"])) },
  resolve: process.env.VITEST ? { conditions: ["browser"] } : {},
  test: { environment: "happy-dom", include: ["src/**/*.test.ts"] },
});
