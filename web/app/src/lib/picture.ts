// A chart as a file. Styles of the page are written into the picture, which stands alone.

import { saveBlob } from "../api/client";

const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "font-family", "font-size", "font-weight", "text-anchor", "opacity"];

/** asSVG writes a chart as an SVG document. */
export function asSVG(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const name of kept) to[i].setAttribute(name, style.getPropertyValue(name));
    to[i].removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}

/** saveSVG downloads a chart as SVG. */
export const saveSVG = (svg: SVGSVGElement, name: string) => saveBlob(new Blob([asSVG(svg)], { type: "image/svg+xml" }), name);

/** savePNG downloads a chart as PNG, at twice its size on the page. */
export async function savePNG(svg: SVGSVGElement, name: string): Promise<void> {
  const address = URL.createObjectURL(new Blob([asSVG(svg)], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = svg.clientWidth * 2;
  canvas.height = svg.clientHeight * 2;
  const context = canvas.getContext("2d")!;
  context.fillStyle = getComputedStyle(svg.closest(".box") ?? document.body).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (blob) saveBlob(blob, name);
}
