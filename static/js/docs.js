// Starts the API documentation; the page's content policy allows no inline script.
const place = document.getElementById("docs");

window.SwaggerUIBundle({
  domNode: place,
  url: place.dataset.document,
  validatorUrl: null,
  deepLinking: true,
  tryItOutEnabled: false,
  persistAuthorization: false,
  presets: [window.SwaggerUIBundle.presets.apis],
});
