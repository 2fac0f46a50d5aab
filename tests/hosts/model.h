/* Models of hosts that simulate with MuJoCo themselves. */
#ifndef MODEL_H
#define MODEL_H
#include <mujoco/mujoco.h>
#include <string.h>

#include "host.h"

static mjModel* load_model(const char* text) {
  char message[300] = "";
  mjVFS* files = malloc(sizeof *files);
  mj_defaultVFS(files);
  expect(mj_makeEmptyFileVFS(files, "m.xml", (int)strlen(text)) == 0, "no room for a model");
  memcpy(files->filedata[mj_findFileVFS(files, "m.xml")], text, strlen(text));
  mjModel* model = mj_loadXML("m.xml", files, message, sizeof message);
  expect(model, "%s", message);
  mj_deleteVFS(files);
  free(files);
  return model;
}

#endif
